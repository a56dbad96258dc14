"""How Chinese speakers state facts, tastes, tasks and instructions."""

from __future__ import annotations

from proxy.memory.extract_builtin.lexicon import Statement, one_of

KIN = r"我弟(?!弟)|我妹(?!妹)|我哥(?!哥)|我姐(?!姐)|我叔(?!叔)|我姑(?!姑)|我姨(?!妈)|我舅(?!舅|妈)|哥哥|弟弟|姐姐|妹妹|大哥|妈妈|爸爸|我妈|我爸|母亲|父亲|老公|老婆|丈夫|妻子|太太|先生|男朋友|女朋友|男友|女友|未婚[夫妻]|儿子|女儿|孩子|表[哥姐弟妹]|堂[哥姐弟妹]|叔叔|伯伯|阿姨|舅舅|姑姑|姨妈|外甥女?|侄子|侄女|奶奶|爷爷|外婆|外公|姥姥|姥爷|爸妈|父母|婆婆|公公|岳父|岳母|嫂子|姐夫|妹夫|室友|舍友|邻居|同事|老板|领导|房东|朋友|闺蜜|同学|狗|猫|鹦鹉|兔子|仓鼠|乌龟|宝宝|婶婶|婶子|伯父|伯母|舅妈|姑妈|姑父|姨父|小姨|上司|下属|手下|主管|助理|秘书"
_V = r"(?P<v>[^，。！？；、,!?;\s的了吗呢吧]{1,14})"
_LIST = r"(?P<v>[^，。！？；,!?;\s]{1,40})"
_NOW = r"(?:现在|目前|平时|一直|经常|常常|每天|每周\w?|周[一二三四五六日末]|都|还|也|最近|一般|主要|通常|偶尔|又|重新|开始|在|正在|正|已经|自己|早上|晚上|工作日|业余|平常|今天|刚|新|们|家里?|办公|工作|沟通|所有|整理){0,5}"


def _do(*verbs: str) -> str:
    return r"(?:我|咱|^)" + _NOW + r"(?:" + "|".join(verbs) + r")(?!不|过|得|没|的)" + _LIST


CHINESE_STATEMENTS = (
    Statement(
        "name",
        one_of(
            r"我(?:的名字)?叫(?P<v>[^，。！？；、,!?;\s]{1,8})",
            r"(?:叫我|称呼我(?:为)?)(?P<v>[^，。！？；、,!?;\s就吧好了]{1,8})",
        ),
        single=True,
        profile=True,
    ),
    Statement(
        "reply language",
        one_of(
            r"(?:请|以后|总是|一直)?(?:都)?用(?P<v>中文|英文|英语|日语|法语|德语|西班牙语|俄语|粤语|繁体中文|简体中文)(?:回答|回复|答复|跟我说)"
        ),
        "procedure",
        single=True,
        profile=True,
    ),
    Statement(
        "live in",
        one_of(
            r"我(?:们)?(?:家|全家)?" + _NOW + r"住(?:在)?(?!这|那|哪|着|了|不|得)" + _V,
            r"我(?P<who>" + KIN + r")" + _NOW + r"住在" + _V,
        ),
        single=True,
    ),
    Statement(
        "profession",
        one_of(
            r"我(?:的工作)?是(?:一?[名位个])?(?P<v>[^，。！？；、,!?;\s的]{0,8}(?:师|员|医生|护士|老师|工程师|律师|会计|学生|教授|司机|厨师|记者|编辑|演员|警察|经理|设计师|作家))",
            r"(?:我)?(?P<who>"
            + KIN
            + r")是(?:一?[名位个])?(?P<v>[^，。！？；、,!?;\s的]{0,8}(?:师|员|医生|护士|老师|律师|会计|学生|教授|司机|记者|编辑|演员|警察|经理|作家))",
            r"(?P<who>他|她)?(?:现在的)?(?:工作|职业)是" + _V,
        ),
        single=True,
    ),
    Statement(
        "employer",
        one_of(
            r"我"
            + _NOW
            + r"(?:在)(?P<v>[^，。！？；、,!?;\s]{2,12}?)(?:公司)?(?:上班|工作|任职|做了?[一二三四五六七八九十几两\d]+年)"
        ),
        single=True,
    ),
    Statement(
        "age",
        one_of(
            r"我(?:今年|现在|已经|刚|都|满)*(?P<v>\d{1,3}岁|[一二三四五六七八九十]+岁)",
            r"我(?:家)?(?P<who>"
            + KIN
            + r")(?:今年|现在|已经|刚|都|满)*(?P<v>(?:\d{1,3}|[一二三四五六七八九十]+)(?:岁|个月))",
        ),
        single=True,
    ),
    Statement(
        "weight",
        one_of(r"我(?:现在|目前|体重|已经|的)*(?:是|有|重)?(?P<v>\d+(?:\.\d)?(?:公斤|斤|千克|kg))"),
        single=True,
    ),
    Statement("height", one_of(r"我(?:现在|的|身高)*(?:是|有)?(?P<v>\d(?:\.\d+)?米\d*|\d{3}(?:厘米|cm))"), single=True),
    Statement(
        "wear size", one_of(r"我(?:现在|一般|平时)*(?:穿|的鞋码是|鞋码)(?P<v>\d\d(?:\.5)?码|[SMLX]+码)"), single=True
    ),
    Statement(
        "earn",
        one_of(r"我(?:现在|每个?月|的)*(?:月薪|工资|年薪|收入|挣|赚)(?:是|有|到手)?(?P<v>\d[\d.,]*万?(?:块|元)?)"),
        single=True,
    ),
    Statement(
        "study",
        one_of(
            r"我(?:家)?(?P<who>" + KIN + r")" + _NOW + r"(?:学|读|念)(?:的)?(?:是)?(?!会|校|习|生|期|完|了|书)" + _V
        ),
        single=True,
    ),
    Statement(
        "study",
        one_of(r"我(?:现在|今年|目前)?(?:在)?(?:读|上|念)(?P<v>大[一二三四五]|[研博高初][一二三]|[一二三四五六]年级)"),
        single=True,
    ),
    Statement("major", one_of(r"我(?:读|学|念)的(?:专业)?是" + _V), single=True),
    Statement(
        "use",
        one_of(
            _do("用", "使用", "用的是", "开通了", "开了", "订了", "加订了"),
            r"家里开了" + _LIST,
            r"我用的\w{1,5}是" + _V,
        ),
    ),
    Statement("play", one_of(_do("弹", "拉", "吹", "会拉", "会弹", "会吹"))),
    Statement("sport", one_of(_do("练", "打", "踢", "游", "去攀"))),
    Statement("speak", one_of(_do("会说", "会讲", "能说", "说", "讲"))),
    Statement("learn", one_of(_do("在学", "学习", "学", "自学"))),
    Statement(
        "like",
        one_of(
            r"我"
            + _NOW
            + r"(?:超|很|特别|最|非常|超级|挺)?(?:喜欢|爱|热爱|偏爱|爱吃|爱喝|爱看|爱听)(?:吃|喝|看|听|玩)?"
            + _V
        ),
        "preference",
    ),
    Statement(
        "dislike",
        one_of(r"我" + _NOW + r"(?:超|很|特别|最|非常)?(?:讨厌|不喜欢|不爱|受不了|反感)(?:吃|喝|看|听)?" + _V),
        "preference",
    ),
    Statement("allergic to", one_of(r"对(?P<v>[^，。！？；、,!?;\s]{1,10})过敏")),
    Statement(
        "take",
        one_of(
            r"我"
            + _NOW
            + r"(?:吃|服用|服)(?!完|了|过|得|不|饭|早|午|晚|药|素|饱|点)(?P<v>[^，。！？；、,!?;\s]{2,10}?)(?=降|治|来|，|。|$)"
        ),
    ),
    Statement(
        "have",
        one_of(
            r"我(?:家|们家|们)?" + _NOW + r"(?:养了|领养了|买了|有)(?:一|两|三)[只条台辆个匹把]" + _V,
            r"我有(?P<v>[^，。！？；、,!?;\s的一两三]{1,6}(?:病|症|炎|疹|癌|高血压|糖尿病|哮喘|过敏))",
        ),
    ),
    Statement("drink", one_of(_do("喝"))),
    Statement(
        "watch",
        one_of(
            r"(?:我|咱|^)"
            + _NOW
            + r"(?:看|追|听)(?!了|你|您|到|懂|见|一|着|完|起|不|看|得|过|他|她|这|那|上去|说|我|没)"
            + _LIST
        ),
    ),
    Statement("collect", one_of(_do("收集", "收藏", "教", "种"))),
    Statement("shop at", one_of(r"我" + _NOW + r"在(?P<v>[^，。！？；、,!?;\s]{2,10}?)(?:买菜|买东西|购物)")),
    Statement("drive", one_of(r"我?" + _NOW + r"(?:开|骑)(?:的是)?一?(?:辆|台)" + _V)),
    Statement("be", one_of(r"我" + _NOW + r"(?:是)?(?P<v>吃素|素食者|素食主义者|单身|已婚|离异|左撇子|孕妇)")),
    Statement("hobby", one_of(r"(?:我的)?爱好是" + _LIST)),
    Statement(
        "member of",
        one_of(
            r"我" + _NOW + r"(?:在|去|加入了?)(?P<v>[^，。！？；、,!?;\s]{2,12}(?:团|队|社|俱乐部|协会|健身房|中心))"
        ),
    ),
    Statement("born in", one_of(r"我(?:出生在|来自|是)(?P<v>[^，。！？；、,!?;\s的]{2,6}?)(?:人|出生|，|。|$)(?=.*)")),
    Statement("task", one_of(r"提醒我(?P<v>[^，。！？；,!?;\s]{2,30})"), "task"),
    Statement(
        "instruction",
        one_of(r"^(?P<v>(?:从现在起|从今以后|今后|以后(?:都|请))[^，。！？；,!?;\s]{2,30})"),
        "procedure",
        profile=True,
    ),
)
